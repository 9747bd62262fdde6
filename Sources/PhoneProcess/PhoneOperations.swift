import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation

extension Phone {
  /// Performs an operation of the owner.
  package func perform(_ request: PhoneRequest) async -> PhoneReply {
    let operation = request.operation
    if operation.isForDevelopers && developerRadio == nil {
      return PhoneReply(
        .badInput, "This is for developers: start the phone with --developer as well.")
    }
    return await consent.granting(operation) {
      do {
        return try await result(of: operation, pin: request.pin)
      } catch let failure as StorageFailure {
        return PhoneReply(.failed, failure.description)
      } catch {
        return PhoneReply(
          .failed, "The phone could not read or store its data: check the disk, then try again.")
      }
    }
  }

  private func result(of operation: PhoneOperation, pin: [UInt8]) async throws -> PhoneReply {
    switch operation {
    case .status: return PhoneReply(await status().text, await status())
    case .check: return await check()
    case .enable: return await enable()
    case .disable: return try await disable()
    case .history: return await history().reply
    case .exposures: return await exposures().reply
    case .upload(let sharesAbroad): return await upload(pin, sharesAbroad: sharesAbroad)
    case .travel(let region): return try await travelled(to: region)
    case .remove(let removal): return try await remove(removal)
    case .exportMyData: return try await ownerData()
    case .hear(let scans): return await hear(scans)
    case .sent: return sentBeacons()
    }
  }
}
