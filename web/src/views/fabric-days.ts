// Events of a fabric over days, and the week in which the least pod carries the least.

export const DAY_S = 86_400;
const WEEK_DAYS = 7;

/** A column over days, times a factor; of a span only its days, from the state at its first moment on. */
export function inDays(times_s: number[], values: number[], factor: number, span?: [number, number]): [number, number][] {
  const all = times_s.map((time, place): [number, number] => [time / DAY_S, (values[place] ?? 0) * factor]);
  if (!span) return all;
  const [first, last] = span;
  const before = all.findLast(([day]) => day <= first);
  const inside = all.filter(([day]) => day > first && day <= last);
  const end = inside.at(-1) ?? before;
  return [...(before ? [[first, before[1]] as [number, number]] : []), ...inside, ...(end ? [[last, end[1]] as [number, number]] : [])];
}

/** The week that has the least capacity of the first table in its middle. */
export function worstWeek(tables: Record<string, number[]>[]): [number, number] {
  const days = (tables[0]?.["time_s"] ?? [0]).map((time) => time / DAY_S);
  const capacities = tables[0]?.["capacity_gbps_least"] ?? [];
  let worst = 0;
  for (const [place, capacity] of capacities.entries()) if (capacity < (capacities[worst] ?? Infinity)) worst = place;
  const [first, last] = [days[0] ?? 0, days.at(-1) ?? WEEK_DAYS];
  const begin = Math.min(Math.max(first, (days[worst] ?? first) - WEEK_DAYS / 2), Math.max(first, last - WEEK_DAYS));
  return [begin, begin + WEEK_DAYS];
}
