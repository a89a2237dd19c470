package command

import "hyperscale/core/setting"

// DidYouMean proposes the nearest of names, or nothing.
func DidYouMean(got string, names []string) string { return setting.DidYouMean(got, names) }
