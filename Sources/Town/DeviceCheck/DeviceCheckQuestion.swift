/// What a server asks DeviceCheck, with Apple's field names.
struct DeviceCheckQuestion: Codable, Sendable {
  /// The token the phone's system made, in base64.
  let device_token: String
  /// A number of the server's own for this question.
  let transaction_id: String
  /// When it was asked, in milliseconds since 1970.
  let timestamp: Int64
}
