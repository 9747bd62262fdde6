/// The Content-Security-Policy of a web app.
package enum PagePolicy: Sendable {
  /// For our own app: files of its own and nothing else.
  case strict
  /// For an app that was written elsewhere: its scripts run unchanged, but cannot load anything from another machine or
  /// send anything there.
  case permissive

  /// The value of the header.
  package var header: String {
    switch self {
    case .strict:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        + " connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none';"
        + " form-action 'none'; frame-ancestors 'none'"
    case .permissive:
      "default-src 'self' data: blob:;"
        + " script-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval';"
        + " style-src 'self' data: blob: 'unsafe-inline'; connect-src 'self' data: blob:;"
        + " worker-src 'self' blob:; frame-src data: blob:; object-src 'none'; base-uri 'self';"
        + " form-action 'self'; frame-ancestors 'none'"
    }
  }

  /// The policy of pages without a script: our messages to the owner.
  static let inert =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
