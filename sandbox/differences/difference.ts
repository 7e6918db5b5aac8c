import { isRecord } from "../../core/guards.ts";
import {
  parseWithExactNumbers,
  stringifyExact,
} from "../../core/json/exact_number.ts";

/** Answers a request. */
export type Answerer = (request: Request) => Promise<Response>;

/** One way in which the service could deviate from what is assumed of it. */
export type Difference = (
  request: Request,
  answer: Answerer,
) => Promise<Response>;

/** A body, a row or a query as it may be changed. */
export type Fields = Record<string, unknown>;

const PATHS = {
  orders: "/api/external/orders",
  users: "/api/external/users",
  sessions: "/api/external/hpp/create-session",
} as const;

/** An endpoint that can differ. */
export type Endpoint = keyof typeof PATHS;

const isFor = (endpoint: Endpoint, request: Request) =>
  new URL(request.url).pathname === PATHS[endpoint];

/** The service reads another query than the one that was sent. */
export function asksOtherwise(
  endpoint: Endpoint,
  change: (query: URLSearchParams) => void,
): Difference {
  return async (request, answer) => {
    if (!isFor(endpoint, request)) return await answer(request);
    const url = new URL(request.url);
    change(url.searchParams);
    return await answer(new Request(url, request));
  };
}

/** The service answers with another body; null leaves it as it is. */
export function answersOtherwise(
  endpoint: Endpoint,
  change: (body: Fields, query: URLSearchParams) => void,
): Difference {
  return async (request, answer) => {
    const response = await answer(request);
    if (!isFor(endpoint, request) || !response.ok) return response;
    const body = parseWithExactNumbers(await response.text());
    if (!isRecord(body)) return Response.json(body, response);
    const changed: Fields = { ...body };
    change(changed, new URL(request.url).searchParams);
    return new Response(stringifyExact(changed), response);
  };
}

/** The service writes rows otherwise. */
export function writesOtherwise(
  endpoint: "orders" | "users",
  change: (row: Fields) => void,
): Difference {
  return answersOtherwise(endpoint, (body) => {
    if (!Array.isArray(body.data)) return;
    body.data = body.data.map((row) => {
      if (!isRecord(row)) return row;
      const changed: Fields = { ...row };
      change(changed);
      return changed;
    });
  });
}

/** The service answers a request that it should refuse, or the reverse. */
export function answersInstead(
  endpoint: Endpoint,
  isMeant: (body: Fields, query: URLSearchParams) => boolean,
  instead: { readonly status: number; readonly body: unknown },
): Difference {
  return async (request, answer) => {
    if (!isFor(endpoint, request)) return await answer(request);
    const text = request.method === "POST"
      ? await request.clone().text()
      : "{}";
    const body = JSON.parse(text);
    const { searchParams } = new URL(request.url);
    const response = await answer(request);
    return isMeant(body, searchParams)
      ? new Response(JSON.stringify(instead.body), {
        status: instead.status,
        headers: response.headers,
      })
      : response;
  };
}

/** Moves a time in a query by some milliseconds. */
export function moved(query: URLSearchParams, name: string, ms: number): void {
  const time = Date.parse(query.get(name) ?? "");
  if (Number.isNaN(time)) return;
  query.set(name, new Date(time + ms).toISOString());
}
