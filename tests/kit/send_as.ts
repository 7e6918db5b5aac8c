/** Sends a request as a browser does whose name was pointed here. */
export async function sendAs(
  host: string,
  port: number,
  head: string,
): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(
    new TextEncoder().encode(
      `${head} HTTP/1.1\r\nhost: ${host}\r\norigin: http://${host}\r\n` +
        "content-length: 2\r\nconnection: close\r\n\r\n{}",
    ),
  );
  const bytes = new Uint8Array(4096);
  const length = await connection.read(bytes);
  return new TextDecoder().decode(bytes.subarray(0, length ?? 0));
}
