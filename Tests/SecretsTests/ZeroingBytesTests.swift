// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import Synchronization
import Testing

@Suite("Zeroing bytes")
struct ZeroingBytesTests {
  private let secret: [UInt8] = Array(1...40)

  @Test("The memory holds the bytes while there is a reference, and zeros when it is given back")
  func released() {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 40, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: secret)
    let returned = Mutex<[UInt8]>([])
    var bytes: ZeroingBytes? = ZeroingBytes(adopting: memory) { memory in
      returned.withLock { $0 = Array(memory) }
    }
    #expect(bytes?.withUnsafeBytes { Array($0) } == secret)
    bytes = nil
    #expect(returned.withLock { $0 } == [UInt8](repeating: 0, count: 40))
  }

  @Test("Moving bytes from data or an array leaves zeros of the same length there")
  func moved() {
    var (data, array) = (Data(secret), secret)
    let bytes = [ZeroingBytes(moving: &data), ZeroingBytes(moving: &array)]
    #expect(bytes.allSatisfy { $0.withUnsafeBytes { Array($0) } == secret && $0.count == 40 })
    #expect(data == Data(count: 40))
    #expect(array == [UInt8](repeating: 0, count: 40))
  }

  @Test("Overwriting happens in place if there is no other copy", arguments: [0, 1, 14, 15, 5_000])
  func inPlace(count: Int) {
    var array = [UInt8](repeating: 7, count: count)
    let before = array.withUnsafeBytes { $0.baseAddress }
    array.zero()
    #expect(array.withUnsafeBytes { $0.baseAddress } == before)
    #expect(array == [UInt8](repeating: 0, count: count))
    var data = Data(repeating: 7, count: count)
    data.zero()
    #expect(data == Data(count: count))
  }

  @Test("The bytes are filled in place, and a failure is passed on")
  func filled() throws {
    struct Failure: Error {}
    let bytes = ZeroingBytes(count: 3) { memory in
      #expect(memory.allSatisfy { $0 == 0 })
      memory[1] = 5
    }
    #expect(bytes.withUnsafeBytes { Array($0) } == [0, 5, 0])
    #expect(throws: Failure.self) { try ZeroingBytes(count: 3) { _ in throw Failure() } }
  }

  /// Counts how often it was overwritten.
  private final class Overwritten: Zeroable {
    var count = 0
    func zero() { count += 1 }
  }

  @Test("Bytes passed to a closure are overwritten afterwards, also if it throws")
  func onExit() {
    struct Failure: Error {}
    let sum: Int = withZeroedOnExit(secret) { bytes in bytes.reduce(0) { $0 + Int($1) } }
    #expect(sum == 820)
    let bytes = Overwritten()
    #expect(withZeroedOnExit(bytes) { $0.count } == 0)
    #expect(bytes.count == 1)
    #expect(throws: Failure.self) { try withZeroedOnExit(bytes) { _ in throw Failure() } }
    #expect(bytes.count == 2)
  }

  @Test("Equality compares the bytes, and nothing is printed")
  func compared() {
    let bytes = ZeroingBytes(copying: secret)
    #expect(bytes == ZeroingBytes(copying: secret))
    #expect(bytes != ZeroingBytes(copying: secret.dropLast()))
    #expect(bytes != ZeroingBytes(copying: secret.reversed()))
    #expect("\(bytes)" == "ZeroingBytes")
  }
}
