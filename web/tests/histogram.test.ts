// Histograms of wrong symbols, as switches print them.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as histogram from "../src/words/histogram.ts";

const read = (text: string) => {
  const found = histogram.readHistogram(text);
  if ("problem" in found) throw new Error(found.problem);
  return found.bins.map(({ low, high, codewords }) => [low, high, codewords]);
};
const refused = (text: string) => {
  const found = histogram.readHistogram(text);
  return "problem" in found ? found.problem : "nothing";
};

describe("a histogram of a switch", () => {
  it("is read as mlxlink prints it", () => {
    const text = "Histogram of FEC Errors\n-----\nHeader : Range Occurrences\nBin 0 : [0]  99994686\nBin 1 : [1]  5112\nBin 2 : [2:3]  198\n";
    assert.deepEqual(read(text), [[0, 0, 99994686], [1, 1, 5112], [2, 3, 198]]);
  });
  it("is read as SONiC prints it", () => {
    const bins = read(histogram.EXAMPLE);
    assert.equal(bins.length, 16);
    assert.deepEqual(bins[4], [4, 4, 4985985]);
  });
  it("is read as ethtool prints it", () => {
    const text = "Statistics:\n  corrected_blocks: 5312\n  corrected_bits: 6021 [ per_lane: 1500, 1511 ]\n  fec_symbols_err_0: 99 [ per_lane: 50, 49 ]\n  fec_symbols_err_1: 12\n  fec_symbols_err_2_to_3: 8\n";
    assert.deepEqual(read(text), [[0, 0, 99], [1, 1, 12], [2, 3, 8]]);
  });
  it("is read as CSV, and with thousands separated", () => {
    assert.deepEqual(read("bin,count\r\n0,1000\r\n1-3,20\r\n"), [[0, 0, 1000], [1, 3, 20]]);
    assert.deepEqual(read("bin_0: 1,234,567\nbin_1: 7"), [[0, 0, 1234567], [1, 1, 7]]);
  });
  it("is refused in a line", () => {
    assert.match(refused("hello"), /^the text has no bins; paste lines with a bin and a count/);
    assert.match(refused("BIN0 100\nBIN1 many"), /^line 2 is no bin with a count: BIN1 many$/);
    assert.match(refused("BIN1 100"), /^the histogram begins at bin 1/);
    assert.match(refused("BIN0 100\nBIN2 1"), /^bin 2 follows bin 0/);
    assert.match(refused("BIN0 100\nBIN0 1"), /^bin 0 follows bin 0/);
    assert.match(refused("BIN0 0\nBIN1 0"), /^every bin is 0/);
    assert.match(refused(Array.from({ length: 65 }, (_, bin) => `${bin} 1`).join("\n")), /64 at most/);
  });
  it("is told from one of another code", () => {
    const found = histogram.readHistogram("0 5\n1 4\n2 3\n3 2\n4 1");
    const bins = "bins" in found ? found.bins : [];
    assert.match(histogram.otherCode(bins, 2, "RS") ?? "", /^bin 4 holds 1 codeword, and RS corrects 2 symbols/);
    assert.equal(histogram.otherCode(bins, 3, "RS"), undefined);
    assert.equal(histogram.withinCode(bins, 2).length, 4);
  });
  it("has a mean, between two ends where its bins are ranges", () => {
    const bins = [{ low: 0, high: 0, codewords: 6 }, { low: 2, high: 3, codewords: 2 }];
    assert.deepEqual(histogram.meanOf(bins), [0.5, 0.75]);
    assert.equal(histogram.meanText([0.5, 0.75]), "0.5 to 0.75");
    assert.equal(histogram.meanText([0.5, 0.5]), "0.5");
  });
  it("has the shares of a line in its bins", () => {
    assert.deepEqual(histogram.sharesIn([{ low: 0, high: 0, codewords: 1 }, { low: 1, high: 7, codewords: 1 }], [0.5, 0.25, 0.25]), [0.5, 0.5]);
  });
  it("becomes the file of the command", () => {
    assert.equal(histogram.histogramFile([{ low: 0, high: 0, codewords: 6 }, { low: 2, high: 3, codewords: 2 }]), "bin,count\n0,6\n2-3,2\n");
  });
});
