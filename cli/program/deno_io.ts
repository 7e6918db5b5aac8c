import type { Io } from "./io.ts";
import { stopSignals } from "./stop_signals.ts";

/**
 * The real terminal. SIGINT and SIGTERM abort `signal`; a second one ends the
 * process, for the person who will not wait.
 */
export function denoIo(): Io {
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
    out: writer(Deno.stdout),
    err: writer(Deno.stderr),
    env: (name) => Deno.env.get(name),
    // A terminal that does not know its width says 0.
    columns: terminal ? Deno.consoleSize().columns || 80 : null,
    colour: terminal && !Deno.noColor,
    now: () => Date.now(),
    signal: controller.signal,
  };
}

/**
 * Writes all of a text. The reader of a pipe may leave early (`… | head`): then
 * the rest is dropped and the work goes on, for its exit code is not known yet.
 */
function writer(stream: typeof Deno.stdout): (text: string) => void {
  const encoder = new TextEncoder();
  let open = true;
  return (text) => {
    if (!open) return;
    const bytes = encoder.encode(text);
    try {
      for (let at = 0; at < bytes.length;) {
        at += stream.writeSync(bytes.subarray(at));
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      open = false;
    }
  };
}
