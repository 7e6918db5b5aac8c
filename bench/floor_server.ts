/**
 * The least that a durable answer takes: bodies that wait together are written
 * to one file and synced, and then answered: `floor_server.ts FILE`.
 */
if (import.meta.main) {
  using file = await Deno.open(Deno.args[0] ?? "", {
    create: true,
    append: true,
  });
  let waiting: { readonly body: Uint8Array; readonly kept: () => void }[] = [];
  let writing = false;
  const write = async (): Promise<void> => {
    writing = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      let size = 0;
      for (const { body } of group) size += body.length;
      const bytes = new Uint8Array(size);
      let end = 0;
      for (const { body } of group) {
        bytes.set(body, end);
        end += body.length;
      }
      for (let at = 0; at < size;) at += await file.write(bytes.subarray(at));
      await file.syncData();
      for (const { kept } of group) kept();
    }
    writing = false;
  };
  await Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  }, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    await new Promise<void>((kept) => {
      waiting.push({ body, kept });
      if (!writing) void write();
    });
    return new Response(null, { status: 204 });
  }).finished;
}
