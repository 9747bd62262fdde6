import Foundation

/// The messages of the last fourteen days, newest first, as a user interface shows them. The property
/// names are the JSON keys, and absent values are `null`.
package struct PhoneMessages: Encodable, Hashable, Sendable {
  package let messages: [Message]
  package let beacons: [Beacons]

  /// A request and its response.
  package struct Message: Encodable, Hashable, Sendable {
    package let id: String
    /// Unix seconds.
    package let time: Int
    package let kind: String
    package let receiver: String
    /// The host and port of the server.
    package let host: String
    /// The bytes of the request's body.
    package let sent: Int
    /// The bytes of the response's body.
    package let received: Int
    /// The HTTP status; `nil` without a response.
    @Nullable package var status: Int?
    /// The name of the `NetworkFailure`; `nil` with a response.
    @Nullable package var failure: String?
  }

  /// The beacons of one day.
  package struct Beacons: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let date: String
    /// The number of sent identifiers.
    package let sent: Int
    /// The number of received beacons.
    package let received: Int
  }
}
