import type { Io } from "./io.ts";
import { stopSignals } from "./stop_signals.ts";

/**
 * The real terminal. SIGINT and SIGTERM abort `signal`; a second one ends the
 * process, for the person who will not wait.
 */
export function denoIo(): Io {
  const encoder = new TextEncoder();
  const controller = new AbortController();
  const heard = stopSignals({
    stop: () => controller.abort(new DOMException("Interrupted", "AbortError")),
    end: () => Deno.exit(130),
    now: () => performance.now(),
  });
  Deno.addSignalListener("SIGINT", heard);
  Deno.addSignalListener("SIGTERM", heard);
  const terminal = Deno.stdout.isTerminal();
  return {
    out: (text) => writeAll(Deno.stdout, encoder.encode(text)),
    err: (text) => writeAll(Deno.stderr, encoder.encode(text)),
    env: (name) => Deno.env.get(name),
    // A terminal that does not know its width says 0.
    columns: terminal ? Deno.consoleSize().columns || 80 : null,
    colour: terminal && !Deno.noColor,
    now: () => Date.now(),
    signal: controller.signal,
  };
}

function writeAll(stream: typeof Deno.stdout, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) {
      at += stream.writeSync(bytes.subarray(at));
    }
  } catch (error) {
    // The reader of a pipe may leave early (`… | head`); that is no failure.
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(0);
    throw error;
  }
}
