/** The other side of ingest: reads and parses the body, and stores nothing. */
if (import.meta.main) {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  }, async (request) => {
    JSON.parse(await request.text());
    return new Response(null, { status: 204 });
  });
}
