/** Characters that are gathered before they are sent. */
const AT_ONCE = 16 * 1024;

/**
 * A text as bytes. No more of it is made than the reader takes, and nothing more
 * once the reader has left.
 */
export function textStream(
  parts: AsyncIterable<string>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = parts[Symbol.asyncIterator]();
  const utf8 = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      let text = "";
      let ended = false;
      while (!ended && text.length < AT_ONCE) {
        const { done = false, value } = await iterator.next();
        ended = done;
        if (!done) text += value;
      }
      if (text !== "") controller.enqueue(utf8.encode(text));
      if (ended) controller.close();
    },
    cancel: async () => {
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}
