import { textWithin } from "../core/bytes.ts";
import { isRecord } from "../core/guards.ts";
import { parseExact } from "../core/json/json.ts";
import type { NodeProblem } from "./transfer.ts";

/** How a node is reached. Its address may hold a key: it is never shown. */
export interface NodeAddress {
  /** Address without credentials. */
  readonly url: string;
  /** Headers to send, credentials among them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What {@linkcode HttpNode} works with. */
export interface HttpNodeOptions {
  readonly fetch: typeof fetch;
  /** How long a whole look at one node may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What is wrong with a node that failed so. */
export function problemOf(error: unknown): NodeProblem {
  if (error instanceof NodeFailure) return error.problem;
  if (!(error instanceof RpcError)) throw error;
  // While it starts, Core answers every call with an error of its own.
  if (error.code === -28) return "syncing";
  return PRUNED.test(error.message) ? "pruned" : "bad_answer";
}

const PRUNED =
  /prun|missing trie node|history (?:is )?(?:not|un)available|state (?:is )?not available/i;

/** Longest answer of a node, in bytes; a trace of a large batch has a few MB. */
const LONGEST_ANSWER = 32 * 1024 * 1024;

/** Thrown when a node cannot be used; it never holds the address. */
export class NodeFailure extends Error {
  override readonly name = "NodeFailure";
  readonly problem: NodeProblem;

  constructor(problem: NodeProblem) {
    super(`The node cannot be used: ${problem}`);
    this.problem = problem;
  }
}

/** An error that a node answers to a JSON-RPC call. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** Null where the node states none. */
  readonly code: number | null;

  constructor(code: number | null, message: string) {
    super(message);
    this.code = code;
  }
}

/** One look at one node over HTTP: its requests, and all that it answered. */
export class HttpNode {
  readonly #address: NodeAddress;
  readonly #fetch: typeof fetch;
  readonly #signal: AbortSignal;
  readonly #timeout: AbortSignal;
  readonly #answers: string[] = [];

  constructor(address: NodeAddress, options: HttpNodeOptions) {
    this.#address = address;
    this.#fetch = options.fetch;
    this.#timeout = AbortSignal.timeout(options.timeoutMs);
    this.#signal = options.signal === undefined
      ? this.#timeout
      : AbortSignal.any([this.#timeout, options.signal]);
  }

  /** All answers so far as received, one a line. */
  get raw(): string {
    return this.#answers.join("\n");
  }

  /** Calls a method by JSON-RPC. */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const { status, text } = await this.#request(this.#address.url, {
      method: "POST",
      headers: { ...this.#address.headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const answer = parsed(text);
    if (!isRecord(answer)) throw failureOf(status);
    // Core answers errors of a method with status 404 or 500.
    if (isRecord(answer.error)) {
      const { code, message } = answer.error;
      if (status === 401 || status === 403 || status === 429) {
        throw failureOf(status);
      }
      throw new RpcError(
        typeof code === "string" ? Number(code) : null,
        String(message),
      );
    }
    if (status !== 200 || !("result" in answer)) throw failureOf(status);
    return answer.result;
  }

  /** Reads an address below the node's. */
  async get(path: string): Promise<string | null> {
    const { status, text } = await this.#request(this.#address.url + path, {
      headers: this.#address.headers,
    });
    if (status === 404) return null;
    if (status !== 200) throw failureOf(status);
    return text;
  }

  async #request(
    url: string,
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const response = await this.#fetch(url, {
        ...init,
        // A key in a header must not follow to another host.
        redirect: "manual",
        signal: this.#signal,
      });
      const text = await textWithin(response.body, LONGEST_ANSWER);
      if (text === null) throw new NodeFailure("bad_answer");
      this.#answers.push(text);
      return { status: response.status, text };
    } catch (error) {
      if (error instanceof NodeFailure) throw error;
      // What failed names the address, and with it a key.
      throw new NodeFailure(this.#timeout.aborted ? "timeout" : "unreachable");
    }
  }
}

function failureOf(status: number): NodeFailure {
  if (status === 401 || status === 403) return new NodeFailure("refused");
  if (status === 429) return new NodeFailure("rate_limited");
  return new NodeFailure("bad_answer");
}

/** Null where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}
