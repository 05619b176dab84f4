// Where two values of JSON differ: numbers by their doubles.

import { isObject, type Json } from "../../src/catalogue/json.ts";

/** Counts the figures that were compared. */
export interface Counted {
  figures: number;
}

/** Throws at the first place where a value is not what it should be. */
export function compare(place: string, told: Json | undefined, wanted: Json | undefined, counted: Counted): void {
  if (Array.isArray(told) && Array.isArray(wanted)) {
    compare(`${place}.length`, told.length, wanted.length, counted);
    for (const [index, one] of told.entries()) compare(`${place}[${index}]`, one, wanted[index], counted);
  } else if (isObject(told) && isObject(wanted)) {
    for (const key of new Set([...Object.keys(told), ...Object.keys(wanted)])) {
      compare(`${place}.${key}`, told[key], wanted[key], counted);
    }
  } else if (Object.is(told, wanted) || (told === 0 && wanted === 0)) {
    counted.figures += 1;
  } else {
    throw new Error(`${place}: the page has ${JSON.stringify(told)}, lossylink run ${JSON.stringify(wanted)}`);
  }
}

/** Throws where a number is farther from another than a share of it. */
export function compareNearly(place: string, told: number | null, wanted: number | null, share: number, counted: Counted): void {
  const isNear = told !== null && wanted !== null && Math.abs(told - wanted) <= share * Math.abs(wanted);
  if (isNear) counted.figures += 1;
  else compare(place, told, wanted, counted);
}
