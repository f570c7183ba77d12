// Package v1alpha1 holds the kinds of storage.example.com/v1alpha1. The CRD is generated from its types and markers.
// +kubebuilder:object:generate=true
// +groupName=storage.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "storage.example.com", Version: "v1alpha1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme tells a scheme which Go type belongs to which kind.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &BackupPolicy{}, &BackupPolicyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
