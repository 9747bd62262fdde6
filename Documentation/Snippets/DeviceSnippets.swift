// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

@MainActor
func devicePage() async throws {
  let phone = try await SamplePhone()
  let device = phone.device
  // Page: Device
  let life = Task { try await device.run() }
  print(device.status, device.isEnabled)
  life.cancel()
  // End of page.
}

@MainActor
func simulatedRegionPage() async throws {
  // Page: SimulatedRegion
  let region = try SimulatedRegion()
  let phone = try await Device.simulated(in: region, isEnabled: true)
  let other = try await Device.simulated(in: region, isEnabled: true)
  try await region.meet(phone, other, minutes: 15)
  print(region.clock.now.formatted(.iso8601))
  try await region.setBluetooth(on: false, of: phone)
  print(phone.status, other.status)
  // End of page.
}

@MainActor
func deviceVariantPage() async throws {
  // Page: DeviceVariant
  for variant in Device.Variant.allCases {
    print(variant, variant == .latest)
  }
  // End of page.
}

@MainActor
func regionPage() async throws {
  // Page: RegionConfiguration
  do {
    _ = try RegionConfiguration(json: Data("[]".utf8))
  } catch {
    print(error)
  }
  // End of page.
}

@MainActor
func regionConfigurationErrorPage() async throws {
  // Page: RegionConfigurationError
  do {
    _ = try RegionConfiguration(contentsOf: URL(fileURLWithPath: "no-such-region.json"))
  } catch {
    print(error)
  }
  // End of page.
}

@MainActor
func regionConfigurationErrorCodePage() async throws {
  // Page: RegionConfigurationErrorCode
  let error = RegionConfigurationError.notAPublicKey(version: "v2")
  switch error.code {
  case .notAPublicKey: print("replace the key of version", error.keyVersion ?? "")
  case .unreadable: print("check the path")
  default: print(error)
  }
  // End of page.
}

@MainActor
func storedDataPage() async throws {
  // Page: StoredData
  for part in StoredData.allCases {
    print(part.rawValue)
  }
  // End of page.
}

@MainActor
func storageDamagePage() async throws {
  let phone = try await SamplePhone()
  let device = phone.device
  // Page: StorageDamage
  for damage in device.storageDamage {
    print(damage)
  }
  try await device.acknowledgeStorageDamage()
  print(device.storageDamage.count)
  // End of page.
}
