import { Worker as NodeThread } from "node:worker_threads";

/** A module that runs beside this one. */
export interface Thread {
  /** Sends it a message. */
  post(message: unknown): void;
  /** Ends it at once. */
  terminate(): void;
}

/** Events of a thread. */
export interface ThreadEvents {
  /** Called with each message that it sends. */
  readonly onMessage: (message: unknown) => void;
  /** Called once with the error when it has failed. */
  readonly onCrash: (reason: string) => void;
}

const NAME = "rampkit-database";
const UNREADABLE = "an answer could not be read";

/**
 * Starts a thread. Deno loads a thread's module from a registry only through
 * its global `Worker`, which Node lacks.
 *
 * @param module The module that it runs.
 */
export function startThread(module: URL, events: ThreadEvents): Thread {
  return "Worker" in globalThis
    ? startWorker(module, events)
    : startNodeThread(module, events);
}

function startWorker(
  module: URL,
  { onMessage, onCrash }: ThreadEvents,
): Thread {
  const worker = new Worker(module, { type: "module", name: NAME });
  worker.onmessage = ({ data }: MessageEvent) => onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault();
    onCrash(event.message);
  };
  worker.onmessageerror = () => onCrash(UNREADABLE);
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
  };
}

function startNodeThread(
  module: URL,
  { onMessage, onCrash }: ThreadEvents,
): Thread {
  const thread = new NodeThread(module, { name: NAME });
  thread.on("message", onMessage);
  thread.on("error", (error: Error) => onCrash(error.message));
  thread.on("messageerror", () => onCrash(UNREADABLE));
  return {
    post: (message) => thread.postMessage(message),
    terminate: () => void thread.terminate(),
  };
}
