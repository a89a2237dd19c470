// Package kube tests deploy/kubernetes on the real control plane.
package kube
