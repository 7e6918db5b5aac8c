/** What a reader of the console may do. */
export interface Reader {
  /** How notes are signed, and how the log names the reader. */
  readonly name: string;
  /** Whether the reader may acknowledge and note. */
  readonly operates: boolean;
}

/** A token that opens the console. */
export interface AccessToken {
  /** The secret. */
  readonly token: string;
  /** The name of its holder; null where none was given. */
  readonly name: string | null;
  /** What it allows: `operate` includes `read`. */
  readonly scope: "read" | "operate";
}

/** Who may open the console. */
export type Access =
  /** Whoever reaches the address; only for loopback. */
  | { readonly kind: "open"; readonly operates: boolean }
  /** Who holds one of the tokens. */
  | { readonly kind: "tokens"; readonly tokens: readonly AccessToken[] };

/** Whether an address to listen on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
