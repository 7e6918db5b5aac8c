/** Which server is opened. */
export interface HttpServerOptions {
  /** Port to listen on, 0 for a free one. */
  readonly port: number;
  /** Address to listen on. */
  readonly hostname: string;
  /** Answers requests. */
  readonly handler: (
    request: Request,
    info: ServedConnection,
  ) => Response | Promise<Response>;
  /**
   * Called when connections had to be closed, because the process could open no
   * more of them.
   *
   * @default {nothing}
   */
  readonly onDropped?: () => void;
}

/** The connection that a request came over. */
export interface ServedConnection {
  /** Address of the other side. */
  readonly remoteAddr: { readonly hostname: string };
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** Where it listens. */
  readonly port: number;
  /** Takes no more connections; resolves when requests under way are answered. */
  shutdown(): Promise<void>;
}
