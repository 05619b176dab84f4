// PNG images of few colours: a picture of the page is half as large with a palette (ISO/IEC 15948).

import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;
/** Colours that differ by no more are alike, of 255. */
const ALIKE = 10;
const TRUE_COLOUR = 2;
const PALETTE = 3;

/** An image as a browser writes it, with a palette of its most frequent colours; the others become the nearest of them. */
export function withPalette(png) {
  const { width, height, pixels } = decoded(Buffer.from(png));
  const palette = frequent(pixels);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = pixels[y * width + x];
      let place = places.get(colour);
      if (place === undefined) places.set(colour, (place = nearest(palette, colour)));
      rows[y * (width + 1) + 1 + x] = place;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, PALETTE, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap(parts));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

/** The pixels of an image of three or four bytes a pixel, as numbers 0xRRGGBB. */
function decoded(png) {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error("this is no PNG image");
  let [head, data] = [Buffer.alloc(0), []];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const [name, body] = [png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)];
    if (name === "IHDR") head = body;
    if (name === "IDAT") data.push(body);
    at += length + 12;
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const size = head[9] === TRUE_COLOUR ? 3 : 4;
  if (head[8] !== 8 || head[12] !== 0) throw new Error("this PNG has other than 8 bits a part, or is interlaced");
  const lines = unfiltered(inflateSync(Buffer.concat(data)), width * size, height, size);
  const pixels = new Uint32Array(width * height);
  for (let place = 0; place < pixels.length; place += 1) pixels[place] = lines.readUIntBE(place * size, 3);
  return { width, height, pixels };
}

/** Takes the filters of lines off: each byte was written as its difference to its neighbours. */
function unfiltered(raw, stride, height, size) {
  const lines = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x >= size ? lines[at - size] : 0;
      const above = y > 0 ? lines[at - stride] : 0;
      const corner = x >= size && y > 0 ? lines[at - stride - size] : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      lines[at] = raw[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return lines;
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [one, two, three] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return one <= two && one <= three ? left : two <= three ? above : corner;
}

/** The most frequent colours, of which no two are alike: a rare colour of its own stands before a shade of a frequent one. */
function frequent(pixels) {
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const ordered = [...counts].sort(([one, many], [other, few]) => few - many || one - other);
  const palette = [];
  for (const [colour] of ordered) {
    if (palette.length === MOST_COLOURS) break;
    if (palette.every((one) => difference(one, colour) > ALIKE)) palette.push(colour);
  }
  return palette;
}

/** The greatest difference of two colours in red, green or blue. */
function difference(one, other) {
  return Math.max(...parts(one).map((part, place) => Math.abs(part - parts(other)[place])));
}

function nearest(palette, colour) {
  const wanted = parts(colour);
  const distance = (one) => parts(one).reduce((sum, part, place) => sum + (part - wanted[place]) ** 2, 0);
  let [best, least] = [0, Infinity];
  for (const [place, one] of palette.entries()) {
    const found = distance(one);
    if (found < least) [best, least] = [place, found];
  }
  return best;
}

function parts(colour) {
  return [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];
}

function chunk(name, body) {
  const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
