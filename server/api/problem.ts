import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiToken, Scope } from "../../core/settings/values.ts";

/** Problems that the API answers with, each with its status and title. */
export const PROBLEMS = {
  bad_request: [400, "The request is wrong"],
  unauthorized: [401, "A bearer token is needed"],
  forbidden: [403, "The token does not allow this"],
  other_site: [403, "A page of another site sent the request"],
  not_found: [404, "There is no such thing"],
  method_not_allowed: [405, "The path does not take this method"],
  conflict: [409, "This cannot be done now"],
  several: [409, "The reference leads to several orders"],
  body_not_taken: [413, "The request has a body"],
  unknown_host: [421, "The Host header names another server"],
  failed: [500, "The request failed"],
  service_failed: [502, "The service did not do what it was asked for"],
  unavailable: [503, "The ledger cannot be read now"],
  too_many_streams: [503, "Too many clients wait for transitions"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

/** Which problem it is. */
export type ProblemCode = keyof typeof PROBLEMS;

/** What an answer says of a problem besides its kind. */
interface ProblemFacts {
  /** What went wrong here, in one sentence, and what to do. */
  readonly detail: string;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the document. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Ends the handling of a request with a problem. */
export class ApiProblem extends Error {
  /** Literal name of the class. */
  override readonly name = "ApiProblem";
  /** Which problem. */
  readonly code: ProblemCode;
  /** The rest of the answer. */
  readonly facts: ProblemFacts;

  /** @param facts What the answer says; or only its detail. */
  constructor(code: ProblemCode, facts: ProblemFacts | string) {
    const whole = typeof facts === "string" ? { detail: facts } : facts;
    super(whole.detail);
    this.code = code;
    this.facts = whole;
  }
}

/** Media type of a problem document (RFC 9457). */
export const PROBLEM_TYPE = "application/problem+json";

/** The answer that reports a problem. */
export function problemResponse({ code, facts }: ApiProblem): Response {
  const [status, title] = PROBLEMS[code];
  const { detail, headers, members } = facts;
  const document = {
    type: `urn:rampkit:problem:${code}`,
    title,
    status,
    detail,
    ...members,
  };
  return new Response(`${JSON.stringify(document)}\n`, {
    status,
    headers: { ...headers, "content-type": PROBLEM_TYPE },
  });
}

/** Who asks. */
export interface Caller {
  /** Name of the token, for the log. */
  readonly name: string;
  /** What it allows. */
  readonly scope: Scope;
}

/** The tokens of API and console. They are held as digests only. */
interface KnownTokens {
  /** Whose token it is; null for an unknown one. */
  callerOf(token: string): Caller | null;
}

/**
 * Holds tokens. Digests are compared, each with every one, so that the time it
 * takes reveals nothing of them.
 */
export function knownTokens(
  tokens: readonly ApiToken[],
): KnownTokens | null {
  if (tokens.length === 0) return null;
  const known = tokens.map(({ token, name, scope }, index) => ({
    name: name ?? `${scope}-${index + 1}`,
    scope,
    digest: digestOf(token),
  }));
  return {
    callerOf: (token) => {
      const digest = digestOf(token);
      let caller: Caller | null = null;
      for (const { name, scope, digest: one } of known) {
        if (timingSafeEqual(one, digest)) caller = { name, scope };
      }
      return caller;
    },
  };
}

/** Makes the function that says who asks, by the header `Authorization`. */
export function callers(
  tokens: readonly ApiToken[],
): (request: Pick<Request, "headers">) => Caller | null {
  const known = knownTokens(tokens);
  if (known === null) return () => ({ name: "anybody", scope: "read" });
  return ({ headers }) => {
    const [, token = ""] =
      /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
    return known.callerOf(token);
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
