import ExposureNotification
import Foundation

@MainActor
func deviceVariantPage() async throws {
  // On the page.
  for variant in Device.Variant.allCases {
    print(variant, variant == .latest)
  }
  // Until here.
}
