// Package config reads the configuration of a gate, a manager or a worker.
//
// It starts nothing and knows no part: it returns plain data, complete and valid, and the
// command makes a node from it.
//
// Source: house style 8. A value comes from, in rising precedence: Default, a profile, a YAML file, the
// environment (HYPERSCALE_ID, HYPERSCALE_LOG_LEVEL, ...), the flags that were set. Keys are the
// same everywhere: log_level in the file is HYPERSCALE_LOG_LEVEL and --log-level.
//
// Invariants:
//
//	CONFIG-0 Keys describes each key once: flags and their help, errors and docs/settings.md
//	         have it from there.
//	CONFIG-1 An unknown key, a variable of the prefix that is no setting, a key said twice and a
//	         value of the wrong type are refused with their place.
//	CONFIG-2 Validate reports all faults, each with key, value, bound and remedy, and
//	         changes nothing.
//	CONFIG-3 A key that means nothing to a role is refused when it is set.
//
// Example file:
//
//	id: worker-1
//	listen: 10.0.0.5:7600
//	datacenter: east
//	managers: [10.0.0.2:7500, 10.0.0.3:7500]
//	data: /var/lib/hyperscale
//
// Read config.go, keys.go, source.go, validate.go, sizes.go, profile.go, explain.go, schema.go.
package config
