/// An open connection to a controller.
protocol ByteStream: Sendable {
  /// The received bytes in their order. It ends with the connection, and has one reader.
  var received: AsyncStream<[UInt8]> { get }

  /// Sends one packet. At most one command is on its way, so a connection that does not accept a packet
  /// at once has failed.
  func send(_ packet: [UInt8]) throws(BluetoothError)

  /// Closes the connection, which ends `received`. What was sent is still delivered.
  func close()
}

/// Opens the connection to a controller, as often as the radio needs it.
protocol ControllerPort: Sendable {
  /// - Throws: `BluetoothError.unavailable`
  func open() async throws(BluetoothError) -> any ByteStream
}
