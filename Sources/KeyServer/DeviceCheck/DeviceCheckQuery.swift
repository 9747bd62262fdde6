import Foundation
import KeyServerAPI

/// The body of `validate_device_token`, in the authority's words.
struct DeviceCheckQuery: Encodable {
  private let deviceToken: String
  private let transactionID: String
  private let timestamp: Int64

  init(_ payload: DeviceVerificationPayload) {
    deviceToken = payload.deviceToken.base64EncodedString()
    transactionID = payload.transactionID
    timestamp = payload.timestampMilliseconds
  }

  private enum CodingKeys: String, CodingKey {
    case deviceToken = "device_token"
    case transactionID = "transaction_id"
    case timestamp
  }
}
