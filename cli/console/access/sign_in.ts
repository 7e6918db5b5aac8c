import { randomBytes } from "node:crypto";
import type { Access, AccessToken, Reader } from "./access.ts";
import { isSame, signed } from "./signatures.ts";

/** Name of the cookie. */
export const SIGN_IN_COOKIE = "rampkit_console";

/** A person signs in again after this long, ms. */
export const SIGNED_IN_MS = 12 * 3_600_000;

/** What a cookie stands for. */
const PURPOSE = "rampkit console session";

/**
 * Signs people in. The cookie is derived from the token and never holds it:
 * when it ends, a random part, and a hash of both that only a holder of the
 * token can make. Nothing is stored, and a token that is taken away ends what
 * was signed in with it.
 */
export class SignIn {
  readonly #access: Access;
  readonly #now: () => number;
  readonly #random: () => string;
  /** Forms are signed by it; a restart makes people load the page again. */
  readonly #formKey: Uint8Array = randomBytes(32);

  constructor(
    { access, now, random }: {
      readonly access: Access;
      readonly now: () => number;
      /** @default {16 random bytes as text} */
      readonly random?: () => string;
    },
  ) {
    this.#access = access;
    this.#now = now;
    this.#random = random ?? (() => randomBytes(16).toString("base64url"));
  }

  /** Whether people sign in at all. */
  get isNeeded(): boolean {
    return this.#access.kind === "tokens";
  }

  /** Makes the cookie for a token; null for one that is not known. */
  cookieFor(token: string): string | null {
    const known = this.#tokens().filter((one) => isSame(one.token, token));
    const [first] = known;
    return first === undefined ? null : this.#cookie(first);
  }

  /** Makes the cookie of a visitor of an open console, for the forms alone. */
  visit(): string {
    return this.#random();
  }

  /** Who a cookie stands for; null when nobody. */
  readerOf(cookie: string | undefined): Reader | null {
    if (this.#access.kind === "open") {
      return { name: "local", operates: this.#access.operates };
    }
    const [ends = "", salt = "", hash = ""] = (cookie ?? "").split(".");
    if (!/^\d{1,16}$/.test(ends) || Number(ends) <= this.#now()) return null;
    const found = this.#tokens().filter(({ token }) =>
      isSame(hash, signed(token, `${PURPOSE} ${ends} ${salt}`))
    );
    const [one] = found;
    if (one === undefined) return null;
    return {
      name: one.name ?? one.scope,
      operates: one.scope === "operate",
    };
  }

  /** What a form must send back so that a stranger's page cannot send it. */
  formToken(cookie: string): string {
    return signed(this.#formKey, `form ${cookie}`);
  }

  /** Whether a form was made for this cookie. */
  isFormToken(cookie: string | undefined, token: string): boolean {
    return cookie !== undefined && cookie !== "" &&
      isSame(token, this.formToken(cookie));
  }

  #tokens(): readonly AccessToken[] {
    return this.#access.kind === "tokens" ? this.#access.tokens : [];
  }

  #cookie({ token }: AccessToken): string {
    const ends = String(this.#now() + SIGNED_IN_MS);
    const salt = this.#random();
    return `${ends}.${salt}.${signed(token, `${PURPOSE} ${ends} ${salt}`)}`;
  }
}
