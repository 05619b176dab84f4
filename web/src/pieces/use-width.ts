// The width of an element, also after the window has changed.

import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** The width of an element in pixels; zero until the element is there. */
export function useWidth(element: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const measure = () => setWidth(Math.floor(found.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(found);
    return () => observer.disconnect();
  }, []);
  return width;
}
