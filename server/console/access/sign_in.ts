import { Buffer } from "node:buffer";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Access, Reader } from "./access.ts";

/** Name of the cookie. */
export const SIGN_IN_COOKIE = "rampkit_console";

/** A person signs in again after this long, ms. */
export const SIGNED_IN_MS = 12 * 3_600_000;

/**
 * Signs people in. The cookie says who, what is allowed and until when, with a
 * hash by a key that only this process has: it holds nothing of the token,
 * nothing is stored, and a restart ends it.
 */
export class SignIn {
  readonly #access: Access;
  readonly #now: () => number;
  readonly #key: Uint8Array = randomBytes(32);

  /** Nobody is signed in yet. */
  constructor(access: Access, now: () => number) {
    this.#access = access;
    this.#now = now;
  }

  /** Whether signing in is required. */
  get isNeeded(): boolean {
    return this.#access.kind === "tokens";
  }

  /** Makes the cookie for a token; null for an unknown one. */
  cookieFor(token: string): string | null {
    if (this.#access.kind === "open") return null;
    const caller = this.#access.tokens.callerOf(token);
    if (caller === null) return null;
    const ends = this.#now() + SIGNED_IN_MS;
    const said = [ends, caller.scope, caller.name, random()].join("~");
    return `${said}~${this.#signed("reader", said)}`;
  }

  /** Makes the cookie of a visitor of an open console, for the forms alone. */
  visit(): string {
    return random();
  }

  /** Who a cookie stands for; null when nobody. */
  readerOf(cookie: string): Reader | null {
    if (this.#access.kind === "open") {
      const { operates } = this.#access;
      return { name: "local", supports: operates, operates };
    }
    const at = cookie.lastIndexOf("~");
    const said = cookie.slice(0, Math.max(0, at));
    const isOurs = isSame(cookie.slice(at + 1), this.#signed("reader", said));
    const [ends = "", scope, name = ""] = said.split("~");
    return isOurs && Number(ends) > this.#now()
      ? {
        name,
        supports: scope === "support" || scope === "operate",
        operates: scope === "operate",
      }
      : null;
  }

  /** Token that a form sends back, so that no other site can send it. */
  formToken(cookie: string): string {
    return this.#signed("form", cookie);
  }

  /** Whether a form was made for this cookie. */
  isFormToken(cookie: string, token: string): boolean {
    return cookie !== "" && isSame(token, this.formToken(cookie));
  }

  #signed(purpose: "reader" | "form", text: string): string {
    return createHmac("sha256", this.#key).update(`${purpose} ${text}`)
      .digest("base64url");
  }
}

function random(): string {
  return randomBytes(16).toString("base64url");
}

/** Compares in a time that does not reveal how much agrees. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
