/// Why a text was not sent. The code in it is taken back then.
public enum SMSFailure: Error, Sendable, Hashable {
  /// The gateway takes no more just now: try later.
  case queueFull
  /// Nobody can be reached under the number: ask for another.
  case badNumber
  /// Anything else: look at the gateway, then issue again.
  case failed
}
