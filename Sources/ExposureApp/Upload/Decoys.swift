import Foundation
import World

/// Requests that hide real uploads: same routes, same lengths, no content.
public enum Decoys {
  /// The time between two decoys of one phone, in seconds, drawn at random for each.
  public static let intervalSeconds = 12 * 3_600...60 * 3_600

  /// The header that marks a decoy for the server; TLS hides it from the network.
  static let header = "X-Chaff"
}

extension NetworkRequest {
  /// True for a decoy. Only the server and the phone can see the header.
  public var isDecoy: Bool { headers[Decoys.header] != nil }
}

extension ExposureApp {
  /// Sends a decoy if it is due and draws the time of the next. The responses are ignored.
  func sendDecoyIfDue() async {
    let now = clock.now
    let due = store.state.nextDecoy
    // A later time was drawn before the clock was set back.
    let latest = now.addingTimeInterval(Double(Decoys.intervalSeconds.upperBound))
    guard due.map({ $0 <= now || $0 > latest }) ?? true else { return }
    let wait = Double(randomness.number(in: Decoys.intervalSeconds))
    guard (try? store.update { $0.nextDecoy = now.addingTimeInterval(wait) }) != nil, due != nil
    else { return }
    let requests = UploadRequests(configuration: configuration, randomness: randomness)
    for request in requests.decoys() { _ = try? await network.send(request) }
  }
}

extension UploadRequests {
  /// A token request and an upload without content, as long as real ones.
  func decoys() -> [NetworkRequest] {
    var requests = [
      tokenRequest { _ in }, uploadRequest(keys: [], fields: { _ in }, end: { _ in }),
    ]
    for index in requests.indices { requests[index].headers[Decoys.header] = "1" }
    return requests
  }
}
