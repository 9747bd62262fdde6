// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// The travel status; nil if it is not known.
func travelStatus(of manager: ENManager, done: @escaping (Bool?) -> Void) {
  manager.getUserTraveled { hasTraveled, error in
    switch error {
    case nil: done(hasTraveled)
    case ENError.travelStatusNotAvailable?: done(nil)
    default: done(false)
    }
  }
}
