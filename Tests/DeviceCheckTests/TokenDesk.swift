import DeviceCheck
import Foundation

/// Hands out one token, or one error.
struct TokenDesk: DeviceTokenSource {
  let result: Result<Data, any Error>

  func token() async throws -> Data {
    try result.get()
  }
}
