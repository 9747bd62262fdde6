// SPDX-License-Identifier: Apache-2.0
import DeviceCheck

/// The device token behind a protocol of the app. The file has no import of Foundation.
protocol DeviceTokenProviding {
  var isSupported: Bool { get }
  func generateToken(completionHandler completion: @escaping (Data?, Error?) -> Void)
}

extension DCDevice: DeviceTokenProviding {}

func requestBody(from device: DeviceTokenProviding, done: @escaping ([String: String]?) -> Void) {
  guard device.isSupported else { return done(nil) }
  device.generateToken { token, _ in done(token.map { ["token": $0.base64EncodedString()] }) }
}
