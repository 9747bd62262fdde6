// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Testing

@Suite("Radio address")
struct RadioAddressTests {
  @Test(
    "Every form is parsed, and its description is parsed to the same address",
    arguments: [
      ("hci:127.0.0.1:6402", RadioAddress.tcp(host: "127.0.0.1", port: 6_402)),
      ("hci:localhost:1", .tcp(host: "localhost", port: 1)),
      ("hci:board.local:65535", .tcp(host: "board.local", port: 65_535)),
      ("hci:[::1]:9001", .tcp(host: "::1", port: 9_001)),
      ("hci:/dev/ttyACM0", .serial(path: "/dev/ttyACM0", speed: 115_200)),
      ("hci:/dev/ttyUSB1,1000000", .serial(path: "/dev/ttyUSB1", speed: 1_000_000)),
      ("hci:user:0", .userChannel(0)),
      ("hci:user:65535", .userChannel(65_535)),
    ])
  func forms(text: String, address: RadioAddress) throws {
    #expect(try RadioAddress(text) == address)
    #expect(try RadioAddress(address.description) == address)
  }

  @Test(
    "Other text is rejected with a message that says what to write",
    arguments: [
      ("", "expected hci:HOST:PORT"),
      ("127.0.0.1:6402", "expected hci:HOST:PORT"),
      ("hci:", "expected hci:HOST:PORT"),
      ("hci:localhost", "expected hci:HOST:PORT"),
      ("hci::6402", "expected hci:HOST:PORT"),
      ("hci:localhost:0", "port from 1 to 65535"),
      ("hci:localhost:65536", "port from 1 to 65535"),
      ("hci:localhost:-1", "port from 1 to 65535"),
      ("hci:localhost:", "port from 1 to 65535"),
      ("hci:::1:9001", "square brackets"),
      ("hci:[]:9001", "expected hci:HOST:PORT"),
      ("hci:user:", "number of a controller"),
      ("hci:user:hci0", "number of a controller"),
      ("hci:user:65536", "number of a controller"),
      ("hci:/dev/ttyACM0,", "one of these speeds"),
      ("hci:/dev/ttyACM0,123", "one of these speeds"),
    ])
  func refusals(text: String, need: String) {
    let error = #expect(throws: RadioAddressError.self) { try RadioAddress(text) }
    #expect(error?.description.contains(need) == true, "\(error?.description ?? "none")")
  }

  @Test("A message does not repeat long or binary text")
  func quoting() {
    for text in [String(repeating: "a", count: 101), "hci:\u{1b}[2J"] {
      let error = #expect(throws: RadioAddressError.self) { try RadioAddress(text) }
      #expect(error?.description.hasPrefix("The radio: ") == true)
    }
  }
}
