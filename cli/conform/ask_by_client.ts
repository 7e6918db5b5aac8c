import { OnrampClient, type OnrampClientOptions } from "../../client/client.ts";
import { OnrampError, ValidationError } from "../../client/errors.ts";
import type { Environment } from "../../core/assets/environment.ts";
import {
  type AskService,
  NoAnswerError,
  type ServiceAnswer,
} from "../../sync/conformance/reader.ts";

/** How the service is asked. */
export interface AskByClientOptions
  extends Pick<OnrampClientOptions, "fetch" | "sleep" | "steadyNow"> {
  readonly environment: Environment;
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Asks the service by the client, at its rate and with its retries; what the
 * client makes of an answer is put aside, and the answer itself is given.
 */
export function askByClient(options: AskByClientOptions): AskService {
  const { signal } = options;
  const own = observed(options);
  return (list, extra) =>
    own((client) => client[list].page({}, { extra, signal }));
}

/** Makes calls, one at a time, and gives the answers as they came. */
function observed(
  options: AskByClientOptions,
): (
  call: (client: OnrampClient) => Promise<unknown>,
) => Promise<ServiceAnswer> {
  const { now, requestsPerSecond, environment, apiKey, signal } = options;
  const send = options.fetch ?? globalThis.fetch;
  let seen: ServiceAnswer | null = null;
  const client = new OnrampClient({
    environment,
    apiKey,
    requestsPerSecond,
    maxInFlight: 1,
    hookBodies: true,
    now,
    ...(options.sleep && { sleep: options.sleep }),
    ...(options.steadyNow && { steadyNow: options.steadyNow }),
    fetch: async (input, init) => {
      const askedAtMs = now();
      const response = await send(input, init);
      const date = Date.parse(response.headers.get("date") ?? "");
      seen = {
        status: response.status,
        dateMs: Number.isNaN(date) ? null : date,
        askedAtMs,
        answeredAtMs: now(),
        text: null,
      };
      return response;
    },
    onResponse: ({ body }) => {
      if (seen !== null) seen = { ...seen, text: body };
    },
  });
  let turn: Promise<unknown> = Promise.resolve();
  return (call) => {
    const next = turn.then(async () => {
      seen = null;
      try {
        await call(client);
      } catch (error) {
        signal.throwIfAborted();
        // What the client refuses to send is a fault of the question.
        if (error instanceof ValidationError && seen === null) throw error;
        if (!(error instanceof OnrampError)) throw error;
        if (seen === null) throw new NoAnswerError(error.message);
      }
      if (seen === null) throw new NoAnswerError("Nothing was sent");
      return seen;
    });
    turn = next.catch(() => {});
    return next;
  };
}
