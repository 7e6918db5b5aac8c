import type { Service } from "./service.ts";

/** A JSON answer. */
export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** Whether the request carries the partner's key. */
export function hasKey(service: Service, request: Request): boolean {
  return request.headers.get("x-api-key") === service.apiKey;
}

/** The message for a wrong key at the orders, users and session endpoints. */
export const UNAUTHORIZED = "unauthorized: API key is missing or invalid";
