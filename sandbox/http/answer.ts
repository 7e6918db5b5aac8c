import { isRecord } from "../../core/guards.ts";
import type { SandboxEngine } from "../service/sandbox_engine.ts";

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

/** The fields of a JSON body; none of a body that is no JSON object. */
export async function bodyFields(
  request: Request,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = JSON.parse(await request.text());
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
}

/** Whether the request carries the partner's key. */
export function hasKey(engine: SandboxEngine, request: Request): boolean {
  return request.headers.get("x-api-key") === engine.apiKey;
}

/** The message for a wrong key at the orders, users and session endpoints. */
export const UNAUTHORIZED = "unauthorized: API key is missing or invalid";
