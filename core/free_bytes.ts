/** Less than this is left to the garbage collector. */
const WORTH_BYTES = 16 * 1024;

/**
 * Frees the memory of bytes that are not read again. The garbage collector
 * waits until very many bytes outside of its heap are garbage: with bodies of a
 * megabyte that is most of the memory of a process.
 *
 * @param bytes Bytes of a buffer that nobody else has.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < WORTH_BYTES || byteLength < buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
