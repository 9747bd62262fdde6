// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Testing

@Suite("Errors of sealed storage")
struct SealedStorageErrorTests {
  @Test("Every error has a remedy")
  func remedies() {
    for error in [SealedStorageError.full, .tooLarge, .damaged, .disk(ENOENT)] {
      #expect(error.description.hasSuffix("."))
      #expect(error.description.contains(": "))
    }
  }

  @Test("Errors with equal codes differ if the system reported different errors")
  func details() {
    #expect(SealedStorageError.disk(EIO) != .disk(EACCES))
    #expect(SealedStorageError.disk(EIO).code == SealedStorageError.disk(EACCES).code)
    #expect(SealedStorageError.disk(EIO).systemError == EIO)
    #expect(SealedStorageError.full.systemError == nil)
    #expect("\(SealedStorageError.tooLarge.code)" == "tooLarge")
  }

  @Test("A typed `catch` matches an equal error only")
  func caught() {
    func caught(_ error: SealedStorageError) -> String {
      do throws(SealedStorageError) {
        throw error
      } catch .damaged {
        return "damaged"
      } catch .disk(ENOENT) {
        return "missing"
      } catch {
        return "other"
      }
    }
    #expect(caught(.damaged) == "damaged")
    #expect(caught(.disk(ENOENT)) == "missing")
    #expect(caught(.disk(EIO)) == "other")
    #expect(caught(.full) == "other")
  }
}
