// Elements of SVG, made by name.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a child that is text becomes text. */
export function made(name: string, attributes: Record<string, string | number>, ...children: (SVGElement | string)[]): SVGElement {
  const element = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}
