import { setImmediate } from "node:timers/promises";
import type { HttpServerOptions } from "../../core/serving/http_server.ts";

type Handler = HttpServerOptions["handler"];

/** How much a server does at a time. */
export interface AnswerBounds {
  /** Requests of one kind that are handled at a time. @default {reading 1, others 8} */
  readonly handled?: number;
  /** Long answers that are handled or sent at a time. @default {reading 4, others 8} */
  readonly sent?: number;
  /** Requests that wait for their turn; others get 503. @default 64 */
  readonly waiting?: number;
  /** What is said to those that may not wait; its headers are added to. @default {a line of text} */
  readonly refusal?: () => Response;
  /**
   * A client that reads nothing of an answer for this long is cut off, in ms.
   *
   * @default 15_000
   */
  readonly stallMs?: number;
}

/** A longer answer is sent piece by piece, as the client takes it. */
const PIECE_BYTES = 16 * 1024;

/**
 * Bounds what the answers of a server take, so that others in the same process
 * go on: few requests are handled at a time, and between two of them the rest
 * of the process has its turn. Of a long answer no more is written than the
 * client takes, and a client that takes nothing for a while is cut off.
 *
 * @param handler Answers requests.
 * @param bounds How much it may do at a time.
 * @returns Answers requests within these bounds.
 */
export function boundedAnswers(
  handler: Handler,
  bounds: AnswerBounds = {},
): Handler {
  const reading = new Turns({ handled: 1, sent: 4, ...bounds });
  // Others wait for the service, and must not keep readers waiting.
  const operating = new Turns({ handled: 8, sent: 8, ...bounds });
  const { stallMs = 15_000, refusal = tooMany } = bounds;
  return async (request, info) => {
    const { method } = request;
    const turns = method === "GET" || method === "HEAD" ? reading : operating;
    if (!turns.hasRoom) return busy(refusal());
    await turns.begin();
    let response: Response;
    const beganMs = performance.now();
    try {
      response = await handler(request, info);
    } finally {
      turns.end(performance.now() - beganMs);
    }
    return await piecewise(response, { turns, stallMs });
  };
}

/** Status and advice of a request that may not wait. */
export const TOO_MANY = {
  status: 503,
  detail: "Too many requests at once; try again",
} as const;

function tooMany(): Response {
  return new Response(`${TOO_MANY.detail}\n`, { status: TOO_MANY.status });
}

/** Asked too much: the connection ends, with what else was sent on it. */
function busy(answer: Response): Response {
  answer.headers.set("retry-after", "1");
  answer.headers.set("connection", "close");
  return answer;
}

/** Longest rest after a request, ms. */
const LONGEST_REST_MS = 100;

/** The turns of requests. */
class Turns {
  readonly #handled: number;
  readonly #sent: number;
  readonly #waiting: number;
  readonly #queue: (() => void)[] = [];
  #handling = 0;
  #sending = 0;

  constructor(
    { handled, sent, waiting = 64 }:
      & Required<Pick<AnswerBounds, "handled" | "sent">>
      & AnswerBounds,
  ) {
    this.#handled = handled;
    this.#sent = sent;
    this.#waiting = waiting;
  }

  /** Whether one more may wait. */
  get hasRoom(): boolean {
    return this.#queue.length < this.#waiting;
  }

  /** Waits for the turn to handle a request. */
  async begin(): Promise<void> {
    if (!this.#isFree) {
      await new Promise<void>((resolve) => this.#queue.push(resolve));
      return;
    }
    this.#handling++;
  }

  /** A request was handled in so many ms; the others rest for half of that. */
  end(ms: number): void {
    const rest = (): void => {
      this.#handling--;
      this.#next();
    };
    if (this.#queue.length === 0) return rest();
    setTimeout(rest, Math.min(ms / 2, LONGEST_REST_MS));
  }

  /** A long answer is being sent; gives back what ends that. */
  send(): () => void {
    this.#sending++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#sending--;
      this.#next();
    };
  }

  get #isFree(): boolean {
    return this.#handling < this.#handled &&
      this.#handling + this.#sending < this.#sent;
  }

  #next(): void {
    while (this.#queue.length > 0 && this.#isFree) {
      this.#handling++;
      this.#queue.shift()?.();
    }
  }
}

/** What an answer is sent with. */
interface Sending {
  readonly turns: Turns;
  readonly stallMs: number;
}

type Read = ReadableStreamReadResult<Uint8Array>;

/** The same answer, whose body is sent as the client takes it. */
async function piecewise(
  response: Response,
  sending: Sending,
): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const reader = body.getReader();
  const first = reader.read();
  // What is there already may be all of it; what is waited for is not.
  const begun = await Promise.race([first, setImmediate(null)]);
  const head = { status, statusText, headers: new Headers(headers) };
  if (begun === null) {
    return new Response(pieces(reader, [first], sending), head);
  }
  if (begun.done) return new Response(null, head);
  const second = reader.read();
  const isWhole = (await Promise.race([second, setImmediate(null)]))?.done;
  const { value } = begun;
  if (isWhole && value.length <= PIECE_BYTES) {
    return new Response(value.slice(), head);
  }
  // An answer that ends before its stated length ends its connection.
  if (isWhole) head.headers.set("content-length", String(value.length));
  return new Response(pieces(reader, [first, second], sending), head);
}

/** A body in pieces that are read when they are asked for. */
function pieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  begun: Promise<Read>[],
  { turns, stallMs }: Sending,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let rest = new Uint8Array(0);
  let sent: (() => void) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    clearTimeout(timer);
    sent?.();
  };
  const stop = (reason: unknown): void => {
    end();
    rest = new Uint8Array(0);
    reader.cancel(reason).catch(() => {});
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      clearTimeout(timer);
      try {
        if (rest.length === 0) {
          const { done, value } = await (begun.shift() ?? reader.read());
          if (done) {
            end();
            return controller.close();
          }
          rest = new Uint8Array(value);
          if (rest.length > PIECE_BYTES) sent ??= turns.send();
        }
      } catch (error) {
        end();
        return controller.error(error);
      }
      const piece = rest.subarray(0, PIECE_BYTES);
      rest = rest.subarray(PIECE_BYTES);
      controller.enqueue(piece.slice());
      timer = setTimeout(() => {
        stop("The client does not read its answer");
        controller.close();
      }, stallMs);
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}
