import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { listening, urlOf } from "../http/listening.ts";
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
  const server = await listening(
    "the console",
    port,
    () => openHttpServer({ port, hostname: host, handler: app.fetch }),
  );
  app.warm();
  return {
    url: urlOf(host, server.port),
    shutdown: async () => {
      const stopped = app.stop();
      await server.shutdown();
      await stopped;
    },
  };
}
