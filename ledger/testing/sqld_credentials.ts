/** What a sqld checks tokens with, and a token that it takes. */
export interface SqldCredentials {
  /** Public key, URL-safe base64. */
  readonly jwtKey: string;
  /** The token. */
  readonly authToken: string;
}

/** Makes a key pair, and a token that the public key proves. */
export async function sqldCredentials(): Promise<SqldCredentials> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    "Ed25519",
    true,
    ["sign", "verify"],
  ) as CryptoKeyPair;
  const url = { alphabet: "base64url", omitPadding: true } as const;
  const part = (value: object) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64(url);
  const signed = `${part({ alg: "EdDSA", typ: "JWT" })}.${part({ a: "rw" })}`;
  const signature = await crypto.subtle.sign(
    "Ed25519",
    privateKey,
    new TextEncoder().encode(signed),
  );
  const raw = await crypto.subtle.exportKey("raw", publicKey);
  return {
    jwtKey: new Uint8Array(raw).toBase64(url),
    authToken: `${signed}.${new Uint8Array(signature).toBase64(url)}`,
  };
}
