// The WebAssembly module with plain memory: a text in, texts out.

/** What the module exports. */
export interface Exports {
  memory: WebAssembly.Memory;
  /** Room for a request. */
  room(length: number): number;
  /** Runs the request of this length. */
  ask(length: number): void;
  answer(): number;
  answer_length(): number;
}

/** Makes an instance of a compiled module; `onLook` gets each answer before the last. */
export function instantiate(module: WebAssembly.Module, onLook: (text: string) => void): (text: string) => string {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let exports: Exports | undefined;
  const read = (memory: WebAssembly.Memory, pointer: number, length: number) =>
    decoder.decode(new Uint8Array(memory.buffer, pointer >>> 0, length >>> 0));
  const start = (): Exports => {
    const look = (pointer: number, length: number) => exports && onLook(read(exports.memory, pointer, length));
    return new WebAssembly.Instance(module, { env: { look } }).exports as unknown as Exports;
  };
  return (text) => {
    const current = (exports ??= start());
    const bytes = encoder.encode(text);
    const pointer = current.room(bytes.length);
    new Uint8Array(current.memory.buffer, pointer >>> 0, bytes.length).set(bytes);
    try {
      current.ask(bytes.length);
    } catch (trap) {
      exports = undefined; // memory after a trap is not to be trusted, but the words of the panic are
      return refusalOf(read(current.memory, current.answer(), current.answer_length()), trap);
    }
    return read(current.memory, current.answer(), current.answer_length());
  };
}

/** The words of a panic as a refusal. */
export function refusalOf(words: string, trap: unknown): string {
  try {
    if (typeof (JSON.parse(words) as { error?: unknown }).error === "string") return words;
  } catch {
    // plain words
  }
  return JSON.stringify({ error: `the simulator stopped: ${words || String(trap)}` });
}
