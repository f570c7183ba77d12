// Package workqueuemetrics switches off the metrics of controllers' queues, which are updated twice a second for each of
// some eighty queues, whether anything is in them or not: most of the wake-ups of an idle control plane.
package workqueuemetrics

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// provider is whom new queues ask for metrics. k8s.io/component-base sets it as it is initialised, and there is no way
// to take that back.
//
//go:linkname provider k8s.io/client-go/util/workqueue.globalMetricsProvider
var provider workqueue.MetricsProvider

// none is the one of before, without which queues do not even start to measure. Of packages that could be initialised
// next, Go takes the first by its path (go.dev/ref/spec#Program_initialization), so this one comes before k8s.io's.
var none = provider

// Off is for before the first queue is made.
func Off() { provider = none }
