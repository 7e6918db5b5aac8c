import { boundedAnswers } from "../http/bounded_answers.ts";
import { listening } from "../http/listening.ts";
import { openSteadyServer } from "../http/open_steady_server.ts";
import { consoleApp } from "./console_app.ts";
import type { ConsoleParts } from "./console_parts.ts";

/** A listening console. */
export interface OpenConsole {
  /** Where people open it. */
  readonly url: string;
  /** Lets requests under way finish, and closes it. */
  shutdown(): Promise<void>;
}

/**
 * Opens the console.
 *
 * @throws {CommandError} When the port is taken, or may not be used.
 */
export async function openConsole(
  parts: ConsoleParts,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<OpenConsole> {
  const app = consoleApp(parts);
  let listensOn = port;
  const server = await listening(
    "the console",
    port,
    // Beside an endpoint, idle connections here must cost it no descriptors.
    () =>
      openSteadyServer({
        port,
        hostname: host,
        handler: boundedAnswers((request) => app.fetch(request)),
        onListen: (address) => listensOn = address.port,
        log: parts.log,
        now: parts.now,
      }),
  );
  app.warm();
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${listensOn}`,
    shutdown: async () => {
      const stopped = app.stop();
      await server.shutdown();
      await stopped;
    },
  };
}
