// A figure as a file: SVG, PNG, CSV.

const PIXELS_PER_POINT = 2;
const SVG = "http://www.w3.org/2000/svg";

/** The text of an SVG file, on paper of a colour. */
export function svgText(svg: SVGElement, paper: string): string {
  const copy = svg.cloneNode(true) as SVGElement;
  copy.setAttribute("xmlns", SVG);
  const [, , width = "0", height = "0"] = (copy.getAttribute("viewBox") ?? "").split(/[ ,]+/);
  const ground = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width, height, fill: paper })) ground.setAttribute(key, value);
  copy.insertBefore(ground, copy.firstChild);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

/** The figure as a PNG image. */
export async function pngOf(svg: SVGElement, paper: string): Promise<Blob> {
  const text = svgText(svg, paper);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * PIXELS_PER_POINT;
  canvas.height = image.height * PIXELS_PER_POINT;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("this browser makes no PNG; take SVG"))), "image/png");
  });
}

/** Rows as comma-separated values (RFC 4180); null is an empty cell. */
export function csvText(rows: (string | number | null)[][]): string {
  return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

function cell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Gives a file to the reader. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
